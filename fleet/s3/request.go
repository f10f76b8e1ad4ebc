package s3

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"slices"
	"sync/atomic"

	"reprise/fleet/store"

	"github.com/minio/minio-go/v7"
)

// A request is one verb's way to the server.
type request struct {
	write    bool
	replaces bool        // an object that exists
	sent     atomic.Bool // it had a connection, so that the server might have read it
}

// begin returns a request, and the context that notes whether it is sent. Requests for credentials
// have another one.
func begin(ctx context.Context, write bool) (*request, context.Context) {
	r := &request{write: write}
	return r, httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { r.sent.Store(true) }})
}

// failed returns the meaning of a library's error for a caller.
func (r *request) failed(ctx context.Context, what string, err error) error {
	var answer minio.ErrorResponse
	unknown := r.write && r.sent.Load()
	switch {
	case ctx.Err() != nil && unknown:
		return fmt.Errorf("%s: %w: %w", what, store.ErrUnknown, context.Cause(ctx))
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w", what, context.Cause(ctx))
	case errors.As(err, &answer) && answer.StatusCode != 0:
		return fmt.Errorf("%s: %w: %d %s: %s", what, r.refused(answer), answer.StatusCode,
			answer.Code, answer.Message)
	case errors.Is(err, errNoCredentials):
		return fmt.Errorf("%s: %w: %w", what, store.ErrDenied, err)
	case unknown:
		return fmt.Errorf("%s: %w: %w", what, store.ErrUnknown, err)
	default:
		return fmt.Errorf("%s: %w: %w", what, store.ErrUnreachable, err)
	}
}

// errRefused is an answer that none of the store's errors describes.
var errRefused = errors.New("the store refuses the request")

// expired are codes that AWS sends with status 400 for credentials.
var expired = []string{
	"ExpiredToken", "InvalidToken", "TokenRefreshRequired", "InvalidAccessKeyId",
	"AuthorizationHeaderMalformed",
}

// refused returns the error for an answer other than success. A missing bucket and a missing key
// have the same status. After an answer of 5xx the fate of a write is not known.
func (r *request) refused(answer minio.ErrorResponse) error {
	switch code := answer.StatusCode; {
	case code == http.StatusPreconditionFailed,
		answer.Code == "ConditionalRequestConflict", answer.Code == "OperationAborted":
		return store.ErrMoved
	case answer.Code == "NoSuchKey" && r.replaces:
		return store.ErrMoved // the version is of an object that is gone
	case answer.Code == "NoSuchKey" && !r.write:
		return store.ErrAbsent
	case code == http.StatusNotFound, code == http.StatusMovedPermanently:
		return store.ErrNoStore
	case code == http.StatusUnauthorized, code == http.StatusForbidden,
		slices.Contains(expired, answer.Code):
		return store.ErrDenied
	case code == http.StatusNotImplemented && r.write:
		return store.ErrUnsafe
	case code >= 500 && r.write:
		return store.ErrUnknown
	case code >= 500 && code != http.StatusNotImplemented, code == http.StatusTooManyRequests:
		return store.ErrUnreachable
	default:
		return errRefused
	}
}
