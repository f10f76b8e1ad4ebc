package servers

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
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
	if err := os.MkdirAll(filepath.Join(directory, "certs"), 0o755); err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(directory, certificate),
			pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]}), 0o644),
		os.WriteFile(filepath.Join(directory, key),
			pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600))
}
