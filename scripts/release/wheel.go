package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"path/filepath"
	"strings"
)

// wheelName is not reprise, the name of another project on PyPI, so that both can be installed.
const wheelName = "reprise_shims"

// wheelTags are those of every C library, since the programs are static.
var wheelTags = map[string]string{
	"amd64": "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
	"arm64": "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
}

//go:embed launch/__main__.py
var wheelMain []byte

// wheel writes a Python wheel with the programs for an architecture.
func (r *release) wheel(made, arch string, files []file) error {
	version := parseVersion(r.version, r.time).python()
	info := wheelName + "-" + version + ".dist-info/"
	readme := ""
	var list []file
	add := func(name string, text string) {
		list = append(list, file{archive: name, mode: 0o644, text: []byte(text)})
	}
	add(wheelName+"/__init__.py", "")
	add(wheelName+"/__main__.py", string(wheelMain))
	for _, f := range withoutLinks(files) {
		if f.archive == "README.md" {
			readme = string(f.text)
		}
		f.archive = wheelName + "/package/" + f.archive
		list = append(list, f)
	}
	add(info+"METADATA", fmt.Sprintf("Metadata-Version: 2.1\nName: %s\nVersion: %s\nSummary: %s\nLicense: MIT\n"+
		"Requires-Python: >=3.8\nDescription-Content-Type: text/markdown\n\n%s", strings.ReplaceAll(wheelName, "_", "-"), version, summary, readme))
	tags := ""
	for tag := range strings.SplitSeq(wheelTags[arch], ".") {
		tags += "Tag: py3-none-" + tag + "\n"
	}
	add(info+"WHEEL", "Wheel-Version: 1.0\nGenerator: reprise\nRoot-Is-Purelib: false\n"+tags)
	entry := wheelName + ".__main__:main\n"
	add(info+"entry_points.txt", "[console_scripts]\nreprise = "+entry+"shimctl = "+entry)
	var record strings.Builder
	for _, f := range list {
		sum := sha256.Sum256(f.text)
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", f.archive, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.text))
	}
	add(info+"RECORD", record.String()+info+"RECORD,,\n")
	packed, err := r.zip(list)
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(made, wheelName+"-"+version+"-py3-none-"+wheelTags[arch]+".whl"), packed)
}

func (r *release) zip(files []file) ([]byte, error) {
	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.archive, Method: zip.Deflate, Modified: r.time}
		h.SetMode(f.mode)
		part, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := part.Write(f.text); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return packed.Bytes(), err
}
