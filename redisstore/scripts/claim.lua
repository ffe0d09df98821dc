local policy2, mark, recovering, limit, span, retention, token2, print2, at = struct.unpack('<BBBI4i8i8c16c33', ARGV[1])
if not gone then
  if print ~= print2 then return {MISMATCH} end
  if state == 1 and mine(token2) then
    lease = now + span
    return put(labels(), data(), true) or {ACQUIRED, now, value}
  end
  if free and limit > 0 and attempt >= limit then
    if state == 2 then token = NOBODY end
    state, cause, since, waited = 4, 2, now, 0
    local failed = put(labels(), data(), true)
    if failed then return failed end
    tell()
    return {TOLD, now, value}
  end
  if not free and not (doubt and recovering == 1) then
    confirm()
    return {TOLD, now, value}
  end
end
local tail, rest
if gone then
  attempt, print, tail, rest = 0, print2, string.sub(ARGV[1], at), ''
else
  tail, rest = labels(), data()
end
if doubt then
  if cause == 0 then cause, since = 1, lease end
  policy = 2
else
  cause, since, started, policy = 0, 0, now, policy2
end
local before = value
state, kind, token, fence, attempt, waited = 1, 0, token2, math.max(fence + 1, now), attempt + 1, 0
lease, expiry = now + span, after(retention)
if mark == 1 then state, kind, cause, since, rest = 3, 3, 0, 0, '' end
local failed = put(tail, rest, false)
if failed then return failed end
if not before then return {FRESH, now} end
tell()
return {ACQUIRED, now, value}
