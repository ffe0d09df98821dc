// Package waitroom lets calls wait until a key is told of, over one connection that
// listens as long as somebody waits.
//
//	room := waitroom.New(func(ctx context.Context) (waitroom.Ear, error) { … })
//	err := room.Wait(ctx, key, func(ctx context.Context) (bool, error) { … })
//	…
//	room.Close()
package waitroom
