package s3

import (
	"context"
	"errors"
	"fmt"
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

// A finder is a Provider of the credentials that AWS's own tools would use. It is asked for each request, and AWS's library keeps what
// it has found.
type finder struct {
	credentials.Expiry // always over
	config             aws.Config
	err                error  // of reading config
	region             string // that the environment or the profile names, "" for none
}

// newFinder reads the environment and the shared files.
func newFinder() *finder {
	load := func(region string) (aws.Config, error) {
		return config.LoadDefaultConfig(context.Background(), config.WithRegion(region),
			config.WithHTTPClient(awshttp.NewBuildableClient().WithTimeout(roleTimeout)),
			config.WithCredentialsCacheOptions(func(o *aws.CredentialsCacheOptions) { o.ExpiryWindow = early }))
	}
	f := &finder{}
	f.config, f.err = load("") // as the environment or the profile says
	if f.region = f.config.Region; f.region == "" && f.err == nil {
		f.config, f.err = load(fallbackRegion)
	}
	return f
}

// RetrieveWithCredContext implements credentials.Provider.
func (f *finder) RetrieveWithCredContext(*credentials.CredContext) (credentials.Value, error) {
	if f.err != nil {
		return credentials.Value{}, fmt.Errorf("%w: %w", errNoCredentials, f.err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), findTimeout)
	defer cancel()
	value, err := f.config.Credentials.Retrieve(ctx)
	var process *processcreds.ProviderError
	switch {
	case errors.As(err, &process): // its text may contain what the process has printed
		return credentials.Value{}, fmt.Errorf("%w: credential_process gives none", errNoCredentials)
	case err != nil:
		return credentials.Value{}, fmt.Errorf("%w: %w", errNoCredentials, err)
	}
	return credentials.Value{AccessKeyID: value.AccessKeyID, SecretAccessKey: value.SecretAccessKey, SessionToken: value.SessionToken,
		Expiration: value.Expires, SignerType: credentials.SignatureV4}, nil
}

// Retrieve implements credentials.Provider.
func (f *finder) Retrieve() (credentials.Value, error) { return f.RetrieveWithCredContext(nil) }
