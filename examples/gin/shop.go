package main

import (
	"database/sql"
	"net/http"

	"github.com/gin-gonic/gin"
)

// shop is a service as it is without a guard: none of its handlers knows of one.
type shop struct{ db *sql.DB }

func (s *shop) order(c *gin.Context) {
	var order struct {
		Item string `json:"item" binding:"required"`
	}
	if err := c.ShouldBindJSON(&order); err != nil {
		c.JSON(http.StatusBadRequest, gin.H{"error": "which item?"}) // recorded; under a new key it may be corrected
		return
	}
	customer, err := user(c.Request)
	if err == nil {
		_, err = s.db.ExecContext(c.Request.Context(), "INSERT INTO orders VALUES ($1, $2)", customer, order.Item)
	}
	if err != nil {
		c.JSON(http.StatusInternalServerError, gin.H{"error": "try again"}) // released; a retry runs
		return
	}
	c.JSON(http.StatusCreated, gin.H{"ordered": order.Item})
}

func (s *shop) count(c *gin.Context) {
	customer, err := user(c.Request)
	var n int
	if err == nil {
		err = s.db.QueryRowContext(c.Request.Context(), "SELECT count(*) FROM orders WHERE customer = $1", customer).Scan(&n)
	}
	if err != nil {
		c.JSON(http.StatusInternalServerError, gin.H{"error": "try again"})
		return
	}
	c.JSON(http.StatusOK, gin.H{"orders": n})
}
