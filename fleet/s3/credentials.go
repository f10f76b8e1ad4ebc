package s3

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/processcreds"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// errNoCredentials reports that none of the places has credentials.
var errNoCredentials = errors.New("there are no credentials")

// How long a request to a service that a machine or a container may not have may take, and all that is asked for credentials.
const (
	roleTimeout = 2 * time.Second
	findTimeout = 4 * time.Second
)

// fallbackRegion is where a role is asked for if nothing names a region.
const fallbackRegion = "us-east-1"

// early is how long before their end credentials are fetched anew.
const early = 10 * time.Second

// A finder is a Provider of the credentials that AWS's own tools would use.
type finder struct {
	config aws.Config
	err    error  // of reading config
	region string // that the environment or the profile names, "" for none

	mu      sync.Mutex
	expires time.Time // zero if nothing was found, or it does not expire
	found   bool
}

// newFinder reads the environment and the shared files.
func newFinder() *finder {
	client := awshttp.NewBuildableClient().WithTimeout(roleTimeout)
	f := &finder{}
	ctx := context.Background()
	f.config, f.err = config.LoadDefaultConfig(ctx, config.WithHTTPClient(client))
	if f.region = f.config.Region; f.region == "" && f.err == nil {
		f.config, f.err = config.LoadDefaultConfig(ctx, config.WithHTTPClient(client), config.WithRegion(fallbackRegion))
	}
	return f
}

// RetrieveWithCredContext implements credentials.Provider.
func (f *finder) RetrieveWithCredContext(*credentials.CredContext) (credentials.Value, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.found = false
	value, err := f.retrieve()
	if err != nil {
		return credentials.Value{}, err
	}
	f.found, f.expires = true, time.Time{}
	if value.CanExpire {
		f.expires = value.Expires.Add(-early)
	}
	return credentials.Value{AccessKeyID: value.AccessKeyID, SecretAccessKey: value.SecretAccessKey, SessionToken: value.SessionToken,
		Expiration: value.Expires, SignerType: credentials.SignatureV4}, nil
}

func (f *finder) retrieve() (aws.Credentials, error) {
	if f.err != nil {
		return aws.Credentials{}, fmt.Errorf("%w: %w", errNoCredentials, f.err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), findTimeout)
	defer cancel()
	if cache, ok := f.config.Credentials.(*aws.CredentialsCache); ok {
		cache.Invalidate() // we keep them ourselves
	}
	value, err := f.config.Credentials.Retrieve(ctx)
	var process *processcreds.ProviderError
	switch {
	case errors.As(err, &process): // its text may contain what the process has printed
		return value, fmt.Errorf("%w: credential_process gives none", errNoCredentials)
	case err != nil:
		return value, fmt.Errorf("%w: %w", errNoCredentials, err)
	}
	return value, nil
}

// Retrieve implements credentials.Provider.
func (f *finder) Retrieve() (credentials.Value, error) { return f.RetrieveWithCredContext(nil) }

// IsExpired implements credentials.Provider.
func (f *finder) IsExpired() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.found || !f.expires.IsZero() && time.Now().After(f.expires)
}
