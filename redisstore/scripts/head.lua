-- The record of KEYS[1] as it is now, and the conditions of docs/stores-protocol.md.
-- ARGV[1] holds the parameters. An ARGV[2] asks for a write in any case, since WAIT goes
-- by the writes of its connection. No functions: making closures takes longer than the rest.
local FENCED, OK, NONE, FORMAT, DAMAGED, MISMATCH, FRESH, ACQUIRED, TOLD, REFUSED = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
local HEAD, LAYOUT = 103, '<BBBBBBI4i8i8i8i8i8c16c33I4'
local NOBODY = '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'
local key, time = KEYS[1], redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local value = redis.call('GET', key)
local format, state, policy, cause, kind, waited, attempt = 1, 0, 0, 0, 0, 0, 0
local fence, lease, expiry, started, since, token, print, size = 0, 0, 0, 0, 0, NOBODY, '', 0
local alive, lapsed, doubt, free, gone = false, false, false, false, true
-- What put.lua is told: labels and data to write, whether they must fit, whether this is
-- the end of a run that somebody may wait for, whether there is nothing to write, and what
-- to answer.
local labels, data, must, ends, same, says
if value then
  format = string.byte(value) or 0
  if format > 1 then return {FORMAT, format} end
  if format < 1 or #value < HEAD then return {DAMAGED, format} end
  format, state, policy, cause, kind, waited, attempt, fence, lease, expiry, started, since, token, print, size =
    struct.unpack(LAYOUT, value)
  if state > 4 or #value < HEAD + size then return {DAMAGED, format} end
  local over = lease <= now
  alive = state == 1 and not over
  lapsed = state == 1 and policy == 2 and over
  doubt = state == 4 or lapsed
  free = state == 2 or state == 1 and policy == 1 and over
  gone = state == 0 or expiry ~= 0 and expiry <= now and not alive and not doubt
end
