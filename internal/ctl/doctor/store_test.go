package doctor

import (
	"testing"
)

// doctor tells of a store whose connection somebody in between can read.
func TestOpenTo(t *testing.T) {
	for location, open := range map[string]bool{
		"s3://bucket/x": false, "s3://bucket/x?endpoint=https://minio:9000": false, "s3://bucket?endpoint=http://minio:9000": true,
		"s3://bucket?endpoint=http://127.0.0.1:9000": false,
	} {
		if got := openTo(location); (got != "") != open {
			t.Errorf("%s: %q", location, got)
		}
	}
}
