package redisstore_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"log"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/redisstore"
)

type receipt struct{ ID string }

// One server. The store's client obeys contexts, and leaves repeating to the engine.
func ExampleNew() {
	ctx := context.Background()
	client := redis.NewClient(&redis.Options{
		Addr:                  "redis.example:6379",
		Username:              "semel",
		Password:              "…",
		TLSConfig:             &tls.Config{ServerName: "redis.example"},
		ContextTimeoutEnabled: true,
		MaxRetries:            -1,
	})
	defer client.Close()
	store, err := redisstore.New(ctx, client, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	engine, err := semel.New(store, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close(ctx)

	key := semel.KeyOf(semel.Scope{Principal: "customer 7", Operation: "charge"}, "order 4711")
	res, err := semel.Do(ctx, engine, semel.Op{Key: key, Input: semel.InputString("30 EUR")}, func(context.Context) (receipt, error) {
		return receipt{ID: "r-1"}, nil
	})
	fmt.Println(res.Value.ID, res.Replayed, err)
}

// A primary that Sentinel looks after. What a failover may forget is narrowed by waiting
// for a replica.
func ExampleNew_sentinel() {
	client := redis.NewFailoverClient(&redis.FailoverOptions{
		MasterName:            "mymaster",
		SentinelAddrs:         []string{"s1.example:26379", "s2.example:26379", "s3.example:26379"},
		Username:              "semel",
		Password:              "…",
		ContextTimeoutEnabled: true,
		MaxRetries:            -1,
	})
	defer client.Close()
	store, err := redisstore.New(context.Background(), client, &redisstore.Options{Replicas: 1})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
}

// A cluster: each record is one key, and so in one slot.
func ExampleNew_cluster() {
	client := redis.NewClusterClient(&redis.ClusterOptions{
		Addrs:                 []string{"n1.example:6379", "n2.example:6379", "n3.example:6379"},
		Username:              "semel",
		Password:              "…",
		ContextTimeoutEnabled: true,
	})
	defer client.Close()
	store, err := redisstore.New(context.Background(), client, &redisstore.Options{Prefix: "shop:"})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
}

// The well-known recipe of SETNX, in one command, without its two faults: the expiry is
// set with the mark, and a client that sends again is not taken for a duplicate.
func ExampleStore_FirstTime() {
	ctx := context.Background()
	client := redis.NewClient(&redis.Options{Addr: "redis.example:6379", ContextTimeoutEnabled: true})
	defer client.Close()
	store, err := redisstore.New(ctx, client, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()

	mail := semel.KeyOf(semel.Scope{Principal: "customer 7", Operation: "welcome mail"})
	first, err := store.FirstTime(ctx, mail.ID(), 24*time.Hour)
	if err == nil && first {
		fmt.Println("send it")
	}
}
