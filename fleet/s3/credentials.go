package s3

import (
	"context"
	"errors"
	"net/http"
	"os"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
)

// errNoCredentials reports that none of the places has credentials.
var errNoCredentials = errors.New("there are no credentials")

// The time limits of a request to a service that a machine or a container might not have, and of
// the whole search.
const (
	roleTimeout = 2 * time.Second
	findTimeout = 4 * time.Second
)

// A finder is a Provider of the first credentials that the environment, the shared files, or the
// role of the container or the machine has.
type finder struct {
	role  credentials.IAM
	found credentials.Provider // nil before the first search
}

// RetrieveWithCredContext implements credentials.Provider. No error contains the text of another
// one, which might have the output of a credential_process.
func (f *finder) RetrieveWithCredContext(*credentials.CredContext) (credentials.Value, error) {
	ctx, cancel := context.WithTimeout(context.Background(), findTimeout)
	defer cancel()
	within := &credentials.CredContext{Client: &http.Client{Timeout: roleTimeout}, Context: ctx}
	for _, p := range f.providers() {
		value, err := p.RetrieveWithCredContext(within)
		if err == nil && value.AccessKeyID != "" && value.SecretAccessKey != "" {
			f.found = p
			return value, nil
		}
	}
	return credentials.Value{}, errNoCredentials
}

func (f *finder) providers() []credentials.Provider {
	list := []credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}}
	container := os.Getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") +
		os.Getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI") + os.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE")
	if container == "" && os.Getenv("AWS_EC2_METADATA_DISABLED") == "true" {
		return list
	}
	return append(list, &f.role)
}

// Retrieve implements credentials.Provider.
func (f *finder) Retrieve() (credentials.Value, error) { return f.RetrieveWithCredContext(nil) }

// IsExpired implements credentials.Provider.
func (f *finder) IsExpired() bool { return f.found == nil || f.found.IsExpired() }
