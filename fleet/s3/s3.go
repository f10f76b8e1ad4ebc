// Package s3 is a store in a bucket of an S3 API that keeps conditions on writes.
//
// It repeats no request, and reads nothing but the URL and the sources of credentials that AWS's
// tools read. Versions are ETags, which most servers derive from the content: an entry's contents
// must differ. Invariant: a write that fails otherwise than with store.ErrUnknown was not made.
package s3

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"

	"reprise/fleet/store"

	"github.com/minio/minio-go/v7"
)

// A Store is a prefix in a bucket.
type Store struct {
	api    minio.Core
	bucket string
	prefix string
}

// maxEntry is the most that is read of an entry: a longer one is cut, and cannot be unsealed. The
// largest bundle has 64 MB of files, their headers, and an eighth of padding.
const maxEntry = 128 << 20

// Read implements store.Store.
func (s *Store) Read(ctx context.Context, name string) (store.Entry, error) {
	r, ctx := begin(ctx, false)
	body, info, _, err := s.api.GetObject(ctx, s.bucket, s.prefix+name, minio.GetObjectOptions{})
	if err != nil {
		return store.Entry{}, r.failed(ctx, "read "+name, err)
	}
	defer body.Close()
	content, err := io.ReadAll(io.LimitReader(body, maxEntry))
	if err != nil {
		return store.Entry{}, r.failed(ctx, "read "+name, err)
	}
	return store.Entry{Content: content, Version: info.ETag}, nil
}

// Swap implements store.Store.
func (s *Store) Swap(ctx context.Context, name, old string, content []byte) (string, error) {
	var options minio.PutObjectOptions
	switch {
	case old == "":
		options.SetMatchETagExcept("*")
	case strings.ContainsAny(old, "*\", "): // "*" would match any
		return "", fmt.Errorf("swap %s: %w", name, store.ErrMoved)
	default:
		options.SetMatchETag(old)
	}
	r, ctx := begin(ctx, true)
	r.replaces = old != ""
	sum, check := sha256.Sum256(content), md5.Sum(content)
	info, err := s.api.PutObject(ctx, s.bucket, s.prefix+name, bytes.NewReader(content),
		int64(len(content)),
		base64.StdEncoding.EncodeToString(check[:]), hex.EncodeToString(sum[:]), options)
	if err != nil {
		return "", r.failed(ctx, "swap "+name, err)
	}
	return info.ETag, nil
}

// List implements store.Store.
func (s *Store) List(ctx context.Context, prefix string) ([]string, error) {
	r, ctx := begin(ctx, false)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the listing after an error
	var keys []string
	options := minio.ListObjectsOptions{Prefix: s.prefix + prefix, Recursive: true}
	for object := range s.api.Client.ListObjects(ctx, s.bucket, options) {
		if object.Err != nil {
			return nil, r.failed(ctx, "list "+prefix, object.Err)
		}
		keys = append(keys, strings.TrimPrefix(object.Key, s.prefix))
	}
	if ctx.Err() != nil { // ends the listing without an error too
		return nil, r.failed(ctx, "list "+prefix, ctx.Err())
	}
	slices.Sort(keys) // some servers sort directories as such
	return keys, nil
}

// Delete implements store.Store.
func (s *Store) Delete(ctx context.Context, names ...string) error {
	for _, name := range names {
		r, ctx := begin(ctx, true)
		err := s.api.RemoveObject(ctx, s.bucket, s.prefix+name, minio.RemoveObjectOptions{})
		if err != nil && minio.ToErrorResponse(err).Code != "NoSuchKey" {
			return r.failed(ctx, "delete "+name, err)
		}
	}
	return nil
}
