package redis_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/integration/internal/engines"
	"github.com/semel-go/semel/redisstore"
)

func openCluster(t testing.TB, o *redisstore.Options) (*engines.RedisCluster, *redis.ClusterClient, *redisstore.Store) {
	t.Helper()
	cluster := engines.NewRedisCluster(t, nil)
	client := redis.NewClusterClient(cluster.Options())
	closeLater(t, client.Close)
	return cluster, client, openStore(t, client, o)
}

// slotOf is the slot of a key without braces: CRC16/XMODEM, see "Key distribution model"
// in the specification of Redis Cluster.
func slotOf(name string) int {
	crc := uint16(0)
	for _, b := range []byte(name) {
		crc ^= uint16(b) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
	}
	return int(crc) % 16384
}

// keysOfSlot are new keys whose records are in one slot.
func keysOfSlot(n, slot int) (keys []semel.KeyID) {
	for len(keys) < n {
		if key := newKey(); slotOf("semel:"+key.String()) == slot {
			keys = append(keys, key)
		}
	}
	return keys
}

// A slot moves to another server and back while its records are claimed and finished.
// Every key is done once, and nobody is told of an error.
func TestSlotMovesUnderLoad(t *testing.T) {
	t.Parallel()
	cluster, client, store := openCluster(t, nil)
	first := newKey()
	name := "semel:" + first.String()
	keys := keysOfSlot(48, slotOf(name))
	from := cluster.Owner(t, cluster.Nodes[0], name)
	to := cluster.Nodes[(slices.Index(cluster.Nodes, from)+1)%3]
	done := newCounter()
	var all sync.WaitGroup
	stop := make(chan struct{})
	for i := range 24 { // so many share pipelines
		all.Go(func() {
			for round := 0; ; round++ {
				select {
				case <-stop:
					return
				default:
				}
				if err := again(t, store, keys[i*2+round%2]); err != nil {
					t.Errorf("while the slot moves: %v", err)
				}
				done.add()
			}
		})
	}
	for range 3 {
		cluster.MoveSlot(t, from, to, name, func() { done.awaitMore(240) })
		done.awaitMore(120)
		from, to = to, from
	}
	close(stop)
	all.Wait()
	for _, key := range keys {
		if r := read(t, store, key); r.State != semel.StateNone && r.State != semel.StateReleased {
			t.Errorf("the record is %+v", r)
		}
	}
	if err := client.Ping(t.Context()).Err(); err != nil {
		t.Error(err)
	}
}

// again claims a key and releases it; the attempts count on, and fences grow.
func again(t testing.TB, s *redisstore.Store, key semel.KeyID) error {
	before, err := s.Read(t.Context(), semel.ReadParams{Key: key})
	if err != nil {
		return err
	}
	p := claimOf(key, semel.NewToken())
	res, err := s.Claim(t.Context(), p)
	if err != nil {
		return err
	}
	if res.Outcome != semel.ClaimAcquired || res.Record.Attempt != before.Attempt+1 || res.Record.Fence <= before.Fence {
		return fmt.Errorf("%v, attempt %d and fence %d after attempt %d and fence %d", res.Outcome, res.Record.Attempt, res.Record.Fence, before.Attempt, before.Fence)
	}
	_, err = s.Finish(t.Context(), semel.FinishParams{Key: key, Token: p.Token, State: semel.StateReleased, Retention: retention})
	return err
}

// A server of the cluster that hangs delays the keys of the others by nothing, even if
// all arrive at once.
func TestHungServerDelaysItsKeysOnly(t *testing.T) {
	t.Parallel()
	cluster, _, store := openCluster(t, nil)
	if err := cycle(t.Context(), store); err != nil {
		t.Fatal(err)
	}
	hung, rest := cluster.Nodes[0], cluster.Nodes[1]
	var here, there []semel.KeyID
	for len(here) < 20 || len(there) < 20 {
		key := newKey()
		if cluster.Owner(t, rest, "semel:"+key.String()) == hung {
			here = append(here, key)
		} else {
			there = append(there, key)
		}
	}
	hung.Pause(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var waiting sync.WaitGroup
	for _, key := range here {
		waiting.Go(func() {
			if _, err := store.Claim(ctx, claimOf(key, semel.NewToken())); !noReply(err) && !unavailable(err) {
				t.Errorf("a claim at the hung server: %v", err)
			}
		})
	}
	for _, key := range there {
		if res, err := store.Claim(t.Context(), claimOf(key, semel.NewToken())); err != nil || res.Outcome != semel.ClaimAcquired {
			t.Errorf("a claim elsewhere: %v, %v", res.Outcome, err)
		}
	}
	cancel()
	waiting.Wait()
	hung.Resume(t)
}

// The end of a run is told on every server of the cluster, whichever has the record.
func TestEndsAreToldEverywhere(t *testing.T) {
	t.Parallel()
	cluster, client, store := openCluster(t, nil)
	var heard []*redis.PubSub
	for _, node := range cluster.Nodes {
		sub := node.Client(t).Subscribe(t.Context(), "semel:ended")
		closeLater(t, sub.Close)
		if _, err := sub.Receive(t.Context()); err != nil {
			t.Fatal(err)
		}
		heard = append(heard, sub)
	}
	p := claimOf(newKey(), semel.NewToken())
	done := waits(t, store, client, "semel:", p.Key, acquire(t, store, p).Fence)
	finish(t, store, doneOf(p.Key, p.Token, "x"))
	for _, sub := range heard {
		m, err := sub.ReceiveMessage(t.Context())
		for err == nil && m.Payload == "" { // what the store tried at its start
			m, err = sub.ReceiveMessage(t.Context())
		}
		if err != nil || m.Payload != p.Key.String() {
			t.Errorf("heard %v, %v; want the key", m, err)
		}
	}
	told(t, done)
}

// A primary is killed: callers learn so, and go on with its replica.
func TestClusterFailsOver(t *testing.T) {
	t.Parallel()
	cluster, _, store := openCluster(t, nil)
	key := newKey()
	name := "semel:" + key.String()
	first := acquire(t, store, claimOf(key, semel.NewToken()))
	owner := cluster.Owner(t, cluster.Nodes[0], name)
	asked := cluster.Nodes[(slices.Index(cluster.Nodes, owner)+1)%3]
	owner.Kill(t)
	cluster.AwaitFailover(t, asked, owner, name)
	var r semel.Record
	for {
		var err error
		if r, err = store.Read(t.Context(), semel.ReadParams{Key: key}); err == nil {
			break
		}
		if !unavailable(err) && !noReply(err) {
			t.Fatalf("during the failover: %v", err)
		}
	}
	// Whether it was forgotten is a matter of luck; if so, its fence is not met again.
	if r.State == semel.StateNone {
		r = acquire(t, store, claimOf(key, semel.NewToken()))
		if r.Fence <= first.Fence {
			t.Errorf("fence %d after fence %d", r.Fence, first.Fence)
		}
	} else if r.Fence != first.Fence {
		t.Errorf("the record is %+v", r)
	}
	if err := cycle(t.Context(), store); err != nil && !noReply(err) && !unavailable(err) {
		t.Error(err)
	}
}

// Pages go through all servers and hold each record once.
func TestListOfCluster(t *testing.T) {
	t.Parallel()
	_, _, store := openCluster(t, nil)
	var want, got [][]byte
	for range 200 {
		key := newKey()
		acquire(t, store, claimOf(key, semel.NewToken()))
		want = append(want, key[:])
	}
	for p := (semel.ListParams{Limit: 7}); ; {
		page, err := store.List(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page.Records {
			got = append(got, r.Key[:])
		}
		if p.Cursor = page.Next; p.Cursor == "" {
			break
		}
	}
	slices.SortFunc(want, bytes.Compare)
	slices.SortFunc(got, bytes.Compare)
	if !slices.EqualFunc(got, want, bytes.Equal) {
		t.Errorf("listed %d keys; want the %d that there are, each once", len(got), len(want))
	}
}

func TestGuaranteesOfCluster(t *testing.T) {
	t.Parallel()
	_, _, store := openCluster(t, nil)
	g, err := store.Guarantees(t.Context(), semel.GuaranteesParams{})
	if err != nil || g.SingleRegister != semel.No || g.SurvivesProcess != semel.Yes || g.SurvivesFailover != semel.No || len(g.Notes) == 0 {
		t.Errorf("%+v, %v", g, err)
	}
}
