local want, kind2, seen, retention, token2, at = struct.unpack('<BBi8i8c16', ARGV[1])
if gone then return {NONE} end
if want ~= 0 and state == want and mine(token2) then
  confirm()
  return {ACQUIRED, now, value}
end
if fence ~= seen or alive or state == 3 and want ~= 0 then return {REFUSED, now, value} end
if want == 0 then -- what is left counts as none, and keeps the fence for a day
  state, policy, cause, kind, waited, attempt, lease, started, since, token, print = 0, 1, 0, 0, 0, 0, 0, 0, 0, NOBODY, string.rep('\0', 33)
  expiry = now + 86400000000
  local failed = put('', '', true)
  if failed then return failed end
  tell()
  return {OK}
end
local rest = data()
if want == 2 then attempt = 0 else kind, rest = kind2, string.sub(ARGV[1], at) end
state, token, fence, cause, since, waited = want, token2, math.max(fence + 1, now), 0, 0, 0
expiry = after(retention)
local failed = put(labels(), rest, want == 2 or rest == '')
if failed then return failed end
tell()
return {ACQUIRED, now, value}
