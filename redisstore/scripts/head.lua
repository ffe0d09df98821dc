-- The record of KEYS[1] as it is now, and the conditions of docs/stores-protocol.md.
-- ARGV[1] holds the parameters. An ARGV[2] asks for a write in any case: see confirm.
local FENCED, OK, NONE, FORMAT, DAMAGED, MISMATCH, FRESH, ACQUIRED, TOLD, REFUSED = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
local HEAD, LAYOUT, NOBODY = 103, '<BBBBBBI4i8i8i8i8i8c16c33I4', string.rep('\0', 16)
local key, time = KEYS[1], redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local value = redis.call('GET', key)
local format, state, policy, cause, kind, waited, attempt = 1, 0, 0, 0, 0, 0, 0
local fence, lease, expiry, started, since, token, print, size = 0, 0, 0, 0, 0, NOBODY, '', 0
if value then
  format = string.byte(value) or 0
  if format > 1 then return {FORMAT, format} end
  if format < 1 or #value < HEAD then return {DAMAGED, format} end
  format, state, policy, cause, kind, waited, attempt, fence, lease, expiry, started, since, token, print, size =
    struct.unpack(LAYOUT, value)
end
local heard = waited == 1
local over = lease <= now
local alive = state == 1 and not over
local lapsed = state == 1 and policy == 2 and over
local doubt = state == 4 or lapsed
local free = state == 2 or state == 1 and policy == 1 and over
local gone = state == 0 or expiry ~= 0 and expiry <= now and not alive and not doubt

local function mine(t) return token == t and t ~= NOBODY end
local function labels() return string.sub(value, HEAD + 1, HEAD + size) end
local function data() return string.sub(value, HEAD + size + 1) end

-- after is the end of a span that begins now; 0 is never.
local function after(span)
  if span == 0 then return 0 end
  return now + span
end

-- prolong moves the expiry if less than half of the retention remains.
local function prolong(retention)
  if expiry ~= 0 and (retention == 0 or (expiry - now) * 2 < retention) then expiry = after(retention) end
end

-- put writes the record. Redis may delete it when it may be forgotten, not before: never
-- while a lapse would be a doubt. What must fit does so in a full server too, since a
-- script that has written may write on. It returns what Redis said, if that is an error.
local function put(tail, rest, must)
  value = struct.pack(LAYOUT, 1, state, policy, cause, kind, waited, attempt, fence, lease, expiry, started, since, token, print, #tail)
    .. tail .. rest
  local function set()
    if state == 4 or state == 1 and policy == 2 or expiry == 0 then return redis.pcall('SET', key, value) end
    local ends = expiry
    if state == 1 and lease > ends then ends = lease end
    return redis.pcall('SET', key, value, 'PXAT', string.format('%.0f', math.ceil(ends / 1000)))
  end
  local said = set()
  if must and said.err and string.find(said.err, 'OOM', 1, true) then
    redis.call('DEL', key)
    said = set()
  end
  if said.err then return said end
end

-- tell wakes those who wait for the end of the run. A missing right stops nothing.
local function tell()
  if heard then redis.pcall('PUBLISH', string.sub(key, 1, -33) .. 'ended', string.sub(key, -32)) end
end

-- confirm writes what is there already: WAIT goes by the writes of its connection.
local function confirm()
  if ARGV[2] and value then redis.call('SETRANGE', key, 0, '\1') end
end
