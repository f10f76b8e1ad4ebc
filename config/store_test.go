package config

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestStore(t *testing.T) {
	c, err := Parse("c.toml", `[store]
url = "s3://bucket/prefix?region=eu-1"
key_file = "~/key"
timeout = "500ms"
`, "/h")
	want := Store{URL: "s3://bucket/prefix?region=eu-1", KeyFile: "/h/key",
		Timeout: 500 * time.Millisecond}
	if err != nil || c.Store != want {
		t.Errorf("%+v, %v; want %+v", c.Store, err, want)
	}
	text := ""
	for _, v := range c.Values() {
		if v.Value != "" {
			text += v.Key + " = " + v.Value + "\n"
		}
	}
	if again, err := Parse("c.toml", text, "/h"); err != nil || !reflect.DeepEqual(again, c) {
		t.Errorf("what is shown is read as %+v, %v", again.Store, err)
	}
}

func TestStoreMistakes(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{`url = 3`, "store.url: must be a URL in quotes, not a number"},
		{`url = "off"`, "store.url: must start with s3://"},
		{`url = "https://u:secret@host/b"`, "store.url: must start with s3://"},
		{`url = "s3:bucket"`, "store.url: names no bucket"},
		{`url = "s3://key:secret@bucket"`, "store.url: must not contain credentials"},
		{`url = "s3://bucket?endpoint=minio:9000"`,
			"store.url: its endpoint must start with https:// or http:// and name a host"},
		{`url = "s3://bucket?endpoint=https://u:secret@minio"`,
			"store.url: its endpoint must start with https:// or http:// and name a host"},
		{`url = "s3://bucket?endpont=https://minio"`, `store.url: has no parameter "endpont"`},
		{`url = "s3://bucket?endpoint=https://minio/secret"`,
			"store.url: its endpoint must start with https:// or http:// and name a host"},
		{`url = "s3://bucket?addressing=path"`, `store.url: has no parameter "addressing"`},
		{`url = "s3://u:secret%zz@bucket"`, "store.url: is not a URL"},
		{`key_file = "key"`, `store.key_file: "key" is not an absolute path`},
		{`timeout = "0s"`, "store.timeout: must be more than 0s and at most 1h"},
		{`timeout = 5`, "store.timeout: must be a duration in quotes, not a number"},
		{`ulr = "s3://b"`, "store.ulr: unknown key"},
	} {
		_, err := Parse("c.toml", "[store]\n"+tt.text, "/h")
		if err == nil || err.Error() != "c.toml:2: "+tt.want {
			t.Errorf("%s: %v, want %s", tt.text, err, tt.want)
		}
	}
	for _, text := range []string{"s3://bucket",
		"s3://bucket/prefix?endpoint=https://minio:9000&region=eu-1"} {
		if err := checkStoreURL(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestResolveStore(t *testing.T) {
	file := Default()
	file.Store = Store{URL: "s3://file", KeyFile: "/k", Timeout: time.Second,
		UploadTimeout: leastUpload}
	change := func(do func(*Store)) Store {
		s := file.Store
		do(&s)
		return s
	}
	for _, tt := range []struct {
		name string
		env  []string
		want Store
		err  string
	}{
		{"nothing", env(), file.Store, ""},
		{"empty", env("REPRISE_STORE=", "REPRISE_STORE_KEY=", "REPRISE_PROJECT="), file.Store, ""},
		{"off", env("REPRISE_STORE=off"), change(func(s *Store) { s.URL = "" }), ""},
		{"another", env("REPRISE_STORE=s3://another"),
			change(func(s *Store) { s.URL = "s3://another" }), ""},
		{"key", env("REPRISE_STORE_KEY= k \n"), change(func(s *Store) { s.Key = "k" }), ""},
		{"key file", env("REPRISE_STORE_KEY_FILE=/x//y"),
			change(func(s *Store) { s.KeyFile = "/x/y" }), ""},
		{"project", env("REPRISE_PROJECT=org/repo"),
			change(func(s *Store) { s.Project = "org/repo" }), ""},
		{"no URL", env("REPRISE_STORE=bucket:secret"), Store{},
			"read REPRISE_STORE: must start with s3://"},
		{"key file in the working directory", env("REPRISE_STORE_KEY_FILE=key"), Store{},
			`read REPRISE_STORE_KEY_FILE: "key" is not an absolute path`},
		{"project of two lines", env("REPRISE_PROJECT=a\nb"), Store{},
			`read REPRISE_PROJECT: "a\nb" is not one line of text`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ResolveStore(lookup(tt.env), file)
			if got != tt.want || (err == nil) != (tt.err == "") ||
				err != nil && err.Error() != tt.err {
				t.Errorf("%+v, %v; want %+v, %s", got, err, tt.want, tt.err)
			}
		})
	}
}

// No file of the working directory says anything of a store.
func TestStoreIsNotNamedByTheRepository(t *testing.T) {
	dir := t.TempDir()
	const text = "[store]\nurl = 's3://theirs'\nkey_file = '/theirs'\nproject = 'theirs'\n"
	for _, name := range []string{"config.toml", "reprise.toml", ".reprise.toml",
		".reprise/config.toml", "reprise/config.toml", ".config/reprise/config.toml", ".env",
		".envrc"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(name, ".env") {
			write(t, dir, name, "export REPRISE_STORE=s3://theirs REPRISE_STORE_KEY=theirs\n")
		} else {
			write(t, dir, name, text)
		}
	}
	t.Chdir(dir)
	for _, home := range []string{"HOME=/nowhere", "HOME=.", "HOME=", "XDG_CONFIG_HOME=.config"} {
		vars := lookup(env("HOME=/nowhere", home))
		if strings.HasPrefix(home, "HOME") {
			vars = lookup(env(home))
		}
		c := Default()
		if path, err := ConfigFile(vars); err == nil {
			if c, err = Load(path); err != nil {
				t.Fatal(err)
			}
		}
		if s, err := ResolveStore(vars, c); err != nil ||
			s != (Store{Timeout: 2 * time.Second, UploadTimeout: leastUpload}) {
			t.Errorf("%s: %+v, %v", home, s, err)
		}
	}
}

// A store's URL can be shown: a text with a place for a secret is none.
func TestStoreURLHasNoSecret(t *testing.T) {
	for _, url := range []string{"s3://bucket?endpoint=https://u:secret@minio:9000",
		"s3://bucket?session_token=secret", "s3://user:secret@bucket/prefix",
		"s3://u:secret%zz@bucket", "s3://bucket#secret", "s3://bucket?region=a;secret",
		"s3://bucket?endpoint=https://minio&endpoint=https://u:secret@minio",
		"s3://bucket?endpoint=https://minio%3Fsecret", "s3://bucket?region=%zzsecret"} {
		_, err := ResolveStore(lookup([]string{"REPRISE_STORE=" + url}), Default())
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", url, err)
		}
	}
}
