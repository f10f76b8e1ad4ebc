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
	"strings"
	"time"

	"reprise/fleet/store"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

var _ store.Store = (*Store)(nil)

// Open returns the store of a URL such as
// s3://bucket/prefix?endpoint=https://minio:9000&region=eu-1, which the configuration has checked.
// It does not connect. The errors contain nothing of the URL.
func Open(text string) (store.Store, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, errors.New("the store's URL is not one")
	}
	query := u.Query()
	host, secure := "s3.amazonaws.com", true
	if query.Has("endpoint") {
		at, err := url.Parse(query.Get("endpoint"))
		if err != nil {
			return nil, errNoEndpoint
		}
		host, secure = at.Host, at.Scheme == "https"
	}
	transport, err := newTransport(secure)
	if err != nil {
		return nil, err
	}
	client, err := minio.NewCore(host,
		&minio.Options{Secure: secure, MaxRetries: 1, Creds: credentials.New(newFinder("")),
			Region: region(query), Transport: transport})
	if err != nil {
		return nil, errNoEndpoint
	}
	prefix := strings.Trim(u.Path, "/")
	if prefix != "" {
		prefix += "/"
	}
	return &Store{api: *client, bucket: u.Host, prefix: prefix}, nil
}

var errNoEndpoint = errors.New("the endpoint of the store's URL is not one")

// region returns "" if AWS is to be asked for it, which is one more request.
func region(query url.Values) string {
	region := cmp.Or(query.Get("region"), os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"))
	if region == "" && query.Has("endpoint") {
		return "us-east-1" // expected by servers other than AWS's
	}
	return region
}

func newTransport(secure bool) (*http.Transport, error) {
	// with true it can read the system's certificates, which takes 10 ms
	transport, err := minio.DefaultTransport(false)
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

// errNoCredentials reports that none of the places has credentials.
var errNoCredentials = errors.New("there are no credentials")

// findTimeout is the limit for the search: a service for roles might not be there.
const findTimeout = 4 * time.Second

// A finder is a Provider of the first credentials that the environment, the shared files, or the
// role of the container or the machine has.
type finder struct{ credentials.Chain }

// newFinder returns a finder that asks for roles at an address, "" for AWS's.
func newFinder(role string) *finder {
	f := &finder{credentials.Chain{Providers: []credentials.Provider{&credentials.EnvAWS{},
		&credentials.FileAWSCredentials{}}}}
	container := os.Getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") +
		os.Getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI") + os.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE")
	if container != "" || os.Getenv("AWS_EC2_METADATA_DISABLED") != "true" {
		f.Providers = append(f.Providers, &credentials.IAM{Endpoint: role})
	}
	return f
}

// RetrieveWithCredContext implements credentials.Provider. The Chain's errors are dropped: they
// might have the output of a credential_process.
func (f *finder) RetrieveWithCredContext(*credentials.CredContext) (credentials.Value, error) {
	ctx, cancel := context.WithTimeout(context.Background(), findTimeout)
	defer cancel()
	value, _ := f.Chain.RetrieveWithCredContext(&credentials.CredContext{Context: ctx})
	if value.AccessKeyID == "" || value.SecretAccessKey == "" {
		return value, errNoCredentials
	}
	return value, nil
}
