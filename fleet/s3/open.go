package s3

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"reprise/fleet/store"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// Open returns the store of a URL such as s3://bucket/prefix?endpoint=https://minio:9000&region=eu-1.
// It does not connect. The errors contain nothing of the URL but names of parameters.
func Open(ctx context.Context, text string) (store.Store, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "s3" {
		return nil, errors.New("the store's URL must begin with s3://")
	}
	s, err := open(u)
	if err != nil {
		return nil, err
	}
	return s, nil
}

func open(u *url.URL) (*Store, error) {
	if u.User != nil {
		return nil, errors.New("an s3 URL must not contain credentials: they are read from where AWS's tools look for them")
	}
	query := u.Query()
	for name, values := range query {
		if !slices.Contains([]string{"endpoint", "region", "addressing"}, name) || len(values) != 1 {
			return nil, fmt.Errorf("an s3 URL has one endpoint, one region and one addressing at most, and no %s", name)
		}
	}
	if u.Host == "" {
		return nil, errors.New("an s3 URL must name a bucket: s3://bucket/prefix")
	}
	host, secure, err := endpoint(query.Get("endpoint"))
	if err != nil {
		return nil, err
	}
	options := &minio.Options{Secure: secure, MaxRetries: 1, Creds: credentials.New(&finder{}), Region: region(query)}
	if options.BucketLookup, err = lookup(query); err != nil {
		return nil, err
	}
	transport, err := newTransport(secure)
	if err != nil {
		return nil, err
	}
	options.Transport = noting{transport}
	client, err := minio.NewCore(host, options)
	if err != nil {
		return nil, errors.New("the endpoint of the s3 URL is not one")
	}
	prefix := strings.Trim(u.Path, "/")
	if prefix != "" {
		prefix += "/"
	}
	return &Store{api: *client, transport: transport, bucket: u.Host, prefix: prefix}, nil
}

var _ store.Store = (*Store)(nil)

// endpoint returns the host of an endpoint, AWS's for none.
func endpoint(text string) (host string, secure bool, err error) {
	if text == "" {
		return "s3.amazonaws.com", true, nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		return "", false, errors.New("the endpoint of an s3 URL must be like https://host:port")
	}
	return u.Host, u.Scheme == "https", nil
}

// lookup says where a request names the bucket: servers other than AWS's expect it in the path.
func lookup(query url.Values) (minio.BucketLookupType, error) {
	switch addressing := query.Get("addressing"); {
	case addressing == "virtual":
		return minio.BucketLookupDNS, nil
	case addressing == "path", addressing == "" && query.Has("endpoint"):
		return minio.BucketLookupPath, nil
	case addressing == "":
		return minio.BucketLookupAuto, nil
	}
	return 0, errors.New("the addressing of an s3 URL is virtual or path")
}

// region returns "" if AWS is to be asked for it, which is one more request.
func region(query url.Values) string {
	region := cmp.Or(query.Get("region"), os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"))
	if region == "" && query.Has("endpoint") {
		return "us-east-1" // what servers other than AWS's expect
	}
	return region
}

func newTransport(secure bool) (*http.Transport, error) {
	transport, err := minio.DefaultTransport(false) // with true it can read the system's certificates, which takes 10 ms
	if err != nil || !secure {
		return transport, err
	}
	transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	file := os.Getenv("AWS_CA_BUNDLE")
	if file == "" {
		return transport, nil
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read AWS_CA_BUNDLE: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(content) {
		return nil, errors.New("AWS_CA_BUNDLE has no certificates")
	}
	transport.TLSClientConfig.RootCAs = roots
	return transport, nil
}
