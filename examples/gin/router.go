package main

import (
	"context"
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/semel-go/semel"
	"github.com/semel-go/semel/semelhttp"
)

// newRouter puts the guard between two routers: gin, then the guard, then gin again. A
// replay does not reach the inner one; what both have to do stands in the outer one.
func newRouter(engine *semel.Engine, s *shop) (http.Handler, error) {
	once, err := semelhttp.New(engine, user, &semelhttp.Options{RequireKey: true})
	if err != nil {
		return nil, err
	}
	inner := gin.New()
	inner.POST("/orders", s.order)

	outer := gin.New()
	outer.Use(gin.Recovery(), authenticate)
	outer.GET("/orders", s.count) // reads need no guard
	outer.POST("/orders", gin.WrapH(once(inner)))
	return outer, nil
}

type userKey struct{}

// authenticate stands for yours. It leaves the user in the request's context, where
// handlers and middleware of net/http find it too; gin's own keys they would not see.
func authenticate(c *gin.Context) {
	name := c.GetHeader("X-User")
	if name == "" {
		c.AbortWithStatus(http.StatusUnauthorized)
		return
	}
	c.Request = c.Request.WithContext(context.WithValue(c.Request.Context(), userKey{}, name))
}

// user is whose key it is.
func user(r *http.Request) (string, error) {
	name, ok := r.Context().Value(userKey{}).(string)
	if !ok {
		return "", errors.New("nobody is logged in")
	}
	return name, nil
}
