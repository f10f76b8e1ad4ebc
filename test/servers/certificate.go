package servers

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net/http/httptest"
	"path/filepath"

	"reprise/test/toolbox"
)

// Files of a server's certificate below its directory, with the names that MinIO expects.
const (
	certificate = "certs/public.crt"
	key         = "certs/private.key"
)

// writeCertificate writes the self-signed certificate for loopback of net/http/httptest.
func writeCertificate(directory string) error {
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	pair := server.TLS.Certificates[0]
	secret, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		return err
	}
	for name, block := range map[string]*pem.Block{
		certificate: {Type: "CERTIFICATE", Bytes: pair.Certificate[0]},
		key:         {Type: "PRIVATE KEY", Bytes: secret},
	} {
		err = errors.Join(err, toolbox.Put(filepath.Join(directory, name),
			string(pem.EncodeToMemory(block)), 0o644))
	}
	return err
}
