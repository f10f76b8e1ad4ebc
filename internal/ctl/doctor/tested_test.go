package doctor

import "testing"

// A build that does not know its releases is not advised to fetch their list.
func TestUpdateIsAdvisedWhereItWorks(t *testing.T) {
	for module, want := range map[string]string{"github.com/some/reprise": "shimctl update-list, or install 2.0", "reprise": "install 2.0"} {
		if got := orUpdate(module, "install 2.0"); got != want {
			t.Errorf("%s: %q, want %q", module, got, want)
		}
	}
}
