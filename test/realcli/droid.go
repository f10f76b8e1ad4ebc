package realcli

// Droid is the package for one platform: that of the command lacks a binary of this version.
var Droid = Pin{Tool: "droid", Package: "@factory/cli-linux-x64", Version: "0.225.2"}
