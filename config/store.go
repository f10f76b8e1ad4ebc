package config

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// A Store is where sessions are shared with other machines. Nothing of it can come from the working
// directory: a repository could name another's store.
type Store struct {
	URL string // s3://bucket/prefix, "" for none; it contains no secret
	// text of the key, from REPRISE_STORE_KEY only; it takes precedence over KeyFile
	Key     string
	KeyFile string // absolute path of a file with the key
	// name of the project, from REPRISE_PROJECT only; "": the URL of the repository's origin
	Project string
	Timeout time.Duration
	// for a session to be uploaded; after that another process goes on with it
	UploadTimeout time.Duration
}

// leastUpload is the shortest limit for the upload of a session.
const leastUpload = 5 * time.Second

// StoreVariables are the variables that say where sessions are shared, and can contain secrets.
var StoreVariables = []string{"REPRISE_STORE", "REPRISE_STORE_KEY", "REPRISE_STORE_KEY_FILE"}

// ResolveStore returns the store of the configuration as the caller's variables change it. The URL
// is "" if nothing is shared. An error contains no secret.
func ResolveStore(getenv func(string) string, c Config) (Store, error) {
	s := c.Store
	s.UploadTimeout = max(s.Timeout, leastUpload)
	switch text := getenv("REPRISE_STORE"); text {
	case "":
	case "off":
		s.URL = ""
	default:
		if err := checkStoreURL(text); err != nil {
			return Store{}, fmt.Errorf("read REPRISE_STORE: %w", err)
		}
		s.URL = text
	}
	s.Key = strings.TrimSpace(getenv("REPRISE_STORE_KEY"))
	keyFile, err := override(getenv, "REPRISE_STORE_KEY_FILE")
	if err != nil {
		return Store{}, err
	}
	s.KeyFile = cmp.Or(keyFile, s.KeyFile)
	if project := getenv("REPRISE_PROJECT"); project != "" {
		if !oneLine(project) {
			return Store{}, fmt.Errorf("read REPRISE_PROJECT: %q is not one line of text", project)
		}
		s.Project = project
	}
	return s, nil
}

// checkStoreURL returns a mistake if a text is not the URL of a store, or has a place for a secret.
// The mistake does not contain the text, since that can contain a password.
func checkStoreURL(text string) error {
	at, err := url.Parse(text)
	if err == nil {
		_, err = url.ParseQuery(at.RawQuery)
	}
	switch {
	case err != nil:
		return &mistake{"is not a URL", storeHint}
	case at.Scheme != "s3":
		return &mistake{"must start with s3://", storeHint}
	case at.User != nil:
		return &mistake{"must not contain credentials",
			"they are taken from the environment as AWS's tools do"}
	case at.Host == "":
		return &mistake{"names no bucket", storeHint}
	case at.Fragment != "":
		return &mistake{"must not contain #", storeHint}
	}
	return checkBucketParameters(at.Query())
}

const storeHint = `as in "s3://bucket/prefix?endpoint=https://minio:9000&region=eu-1"`

func checkBucketParameters(parameters url.Values) error {
	for name := range parameters {
		if name != "endpoint" && name != "region" {
			return &mistake{fmt.Sprintf("has no parameter %q", name),
				"an s3 URL can have endpoint and region"}
		}
	}
	for _, text := range parameters["endpoint"] {
		at, err := url.Parse(text)
		if err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" ||
			at.User != nil || strings.Trim(at.Path, "/") != "" || at.RawQuery+at.Fragment != "" {
			return &mistake{"its endpoint must start with https:// or http:// and name a host",
				storeHint}
		}
	}
	return nil
}

func storeURL(s *Store) value {
	return value{textSchema, func(value any) (err error) {
		if s.URL, err = as[string](value, "a URL in quotes", storeHint); err != nil {
			return err
		}
		return checkStoreURL(s.URL)
	}, func() string { return quotedIfSet(s.URL) }}
}
