local said
if says == FENCED or says == NONE then
  -- A server that was demoted or cut off, and still has our connection, may know less than
  -- the primary. It takes no write, not even one of nothing; one that is full knows all.
  said = redis.pcall('SETRANGE', key, 0, '')
  if type(said) == 'table' and not string.find(said.err, 'OOM', 1, true) then return said end
  return {says}
end
if same then
  said = ARGV[2] and redis.pcall('SETRANGE', key, 0, '\1')
  if type(said) ~= 'table' then
    if says == OK then return {OK} end
    return {says, now, value}
  end
  must = true
end
-- Redis may delete a record when it may be forgotten, not before: never while a lapse would
-- be a doubt, nor while its fence is ahead of the clock. What must fit does so in a full
-- server too, since a script that has written may write on.
local heard = ends and waited == 1
if ends then waited = 0 end
value = struct.pack(LAYOUT, 1, state, policy, cause, kind, waited, attempt, fence, lease, expiry, started, since, token, print, #labels)
  .. labels .. data
local forgotten = math.max(expiry, fence)
if state == 1 and lease > forgotten then forgotten = lease end
for try = 1, 2 do
  if state == 4 or state == 1 and policy == 2 or expiry == 0 then
    said = redis.pcall('SET', key, value)
  else
    said = redis.pcall('SET', key, value, 'PXAT', math.ceil(forgotten / 1000))
  end
  if not said.err then break end
  if try == 2 or not must or not string.find(said.err, 'OOM', 1, true) then return said end
  redis.call('DEL', key)
end
-- Those who wait are told; a right that is missing stops nothing.
if heard then redis.pcall('PUBLISH', string.sub(key, 1, -33) .. 'ended', string.sub(key, -32)) end
if says == OK then return {OK} end
if says == FRESH then return {FRESH, now} end
return {says, now, value}
