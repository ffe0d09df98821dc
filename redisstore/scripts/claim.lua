local policy2, mark, recovering, limit, span, retention, token2, print2, at = struct.unpack('<BBBI4i8i8c16c33', ARGV[1])
if not gone then
  if print ~= print2 then return {MISMATCH} end
  labels, data = string.sub(value, HEAD + 1, HEAD + size), string.sub(value, HEAD + size + 1)
end
if not gone and state == 1 and token == token2 and token2 ~= NOBODY then
  lease = now + span
  must, says = true, ACQUIRED
elseif not gone and free and limit > 0 and attempt >= limit then
  if state == 2 then token = NOBODY end
  state, cause, since = 4, 2, now
  must, ends, says = true, true, TOLD
elseif gone or free or doubt and recovering == 1 then
  says = ACQUIRED
  if gone then
    if not value then says = FRESH end
    attempt, print, labels, data = 0, print2, string.sub(ARGV[1], at), ''
  end
  if doubt then
    if cause == 0 then cause, since = 1, lease end
    policy = 2
  else
    cause, since, started, policy = 0, 0, now, policy2
  end
  state, kind, token, fence, attempt = 1, 0, token2, math.max(fence + 1, now), attempt + 1
  lease, expiry = now + span, now + retention
  if retention == 0 then expiry = 0 end
  if mark == 1 then state, kind, cause, since, data = 3, 3, 0, 0, '' end
  ends = true
else
  same, says = true, TOLD
end
