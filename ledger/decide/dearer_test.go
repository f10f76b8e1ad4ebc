package decide

import (
	"testing"

	"reprise/rewrite"
)

func TestMeter(t *testing.T) {
	var m Meter
	for i := range 10 * MeterMemory {
		m.Add(rewrite.Usage{Known: true, Input: 100, CostNano: 7, CostKnown: i != 0}, 3, Millis(i), false)
		if i > 0 && m.inMoney() != (i >= MeterMemory) {
			t.Fatalf("after %d runs, %d with a price: in money %v", m.Runs, m.Priced, m.inMoney())
		}
	}
	if m.Input != 100 || m.Duration != 3 || m.Cost != 7 {
		t.Errorf("runs that are all alike average to %+v", m)
	}
	for i := range 4 * MeterMemory {
		m.Add(rewrite.Usage{Known: true, Input: 200}, 3, Millis(i), false)
	}
	if m.Input < 198 {
		t.Errorf("what is long past still weighs: %v", m.Input)
	}
	m.Add(rewrite.Usage{Known: true, Input: 1}, 1, 2*meterForgets, false)
	if m.Runs != 1 || m.Input != 1 {
		t.Errorf("after a long silence: %+v", m)
	}
}

// Money decides where every run told it, tokens where one did not.
func TestPricesAreInMoneyWhereAllOfItIsKnown(t *testing.T) {
	m := costs(100, 200, 0)
	for _, side := range []*Meter{&m.Resumed, &m.FollowUp} {
		side.Priced, side.Last = MinRuns, 0
	}
	m.Resumed.Cost, m.FollowUp.Cost = 9, 8
	if p, ok := m.Prices(0); !ok || !p.Money || p.Resumed != 9 || p.Fresh != 8 {
		t.Errorf("%+v, %v", p, ok)
	}
	m.FollowUp.Priced--
	if p, ok := m.Prices(0); !ok || p.Money || p.Resumed != 100 || p.Fresh != 200 {
		t.Errorf("%+v, %v", p, ok)
	}
}
