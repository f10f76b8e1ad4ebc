package postgres

import (
	"context"
	"fmt"
)

// Connect makes the connection before it is needed.
func (s *Store) Connect(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return fmt.Errorf("connect: %w", context.Cause(ctx))
	}
	_, err := s.connect(ctx)
	return err
}
