package s3

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
)

// errNoCredentials reports that none of the places has credentials.
var errNoCredentials = errors.New("there are no credentials")

// roleTimeout bounds each request to a service that a machine or a container may not have.
const roleTimeout = 2 * time.Second

// A finder is a Provider of the first credentials that it finds: in the environment, the shared file, by a
// web identity's token, of the container's or the machine's role.
type finder struct {
	places []credentials.Provider
	found  credentials.Provider
}

func findCredentials() *credentials.Credentials {
	role := &credentials.IAM{Client: &http.Client{Timeout: roleTimeout}}
	return credentials.New(&finder{places: []credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}, role}})
}

// RetrieveWithCredContext implements credentials.Provider.
func (f *finder) RetrieveWithCredContext(c *credentials.CredContext) (credentials.Value, error) {
	var failed []string
	for _, place := range f.places {
		value, err := place.RetrieveWithCredContext(c)
		if err == nil && value.AccessKeyID != "" && value.SecretAccessKey != "" {
			f.found = place
			return value, nil
		}
		if err != nil {
			failed = append(failed, err.Error())
		}
	}
	f.found = nil
	return credentials.Value{}, fmt.Errorf("%w: %s", errNoCredentials, strings.Join(failed, "; "))
}

// Retrieve implements credentials.Provider.
func (f *finder) Retrieve() (credentials.Value, error) { return f.RetrieveWithCredContext(nil) }

// IsExpired implements credentials.Provider.
func (f *finder) IsExpired() bool { return f.found == nil || f.found.IsExpired() }
