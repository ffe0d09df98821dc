package semelhttp

import "io"

// ReadFrom records what it reads like Write does. Once nothing is recorded any
// more it hands over to the writer below, which may use sendfile.
func (c *capture) ReadFrom(src io.Reader) (n int64, err error) {
	buf := c.m.blocks.get(block)[:block]
	defer c.m.blocks.put(buf)
	for {
		if fast := c.fastPath(); fast != nil {
			passed, err := fast.ReadFrom(src)
			c.count(passed)
			return n + passed, err
		}
		read, readErr := src.Read(buf)
		if read > 0 {
			wrote, err := c.Write(buf[:read])
			n += int64(wrote)
			if err != nil {
				return n, err
			}
		}
		if readErr == io.EOF {
			return n, nil
		}
		if readErr != nil {
			return n, readErr
		}
	}
}

// fastPath returns the writer below once the body only has to pass.
func (c *capture) fastPath() io.ReaderFrom {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.live || !c.lossy || c.ended != nil {
		return nil
	}
	fast, _ := c.under.(io.ReaderFrom)
	return fast
}

func (c *capture) count(passed int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.written += passed
}
