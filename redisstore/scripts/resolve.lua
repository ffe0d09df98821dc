local want, kind2, seen, retention, token2, at = struct.unpack('<BBi8i8c16', ARGV[1])
if not gone then labels, data = string.sub(value, HEAD + 1, HEAD + size), string.sub(value, HEAD + size + 1) end
if gone then
  says = NONE
elseif want ~= 0 and state == want and token == token2 and token2 ~= NOBODY then
  same, says = true, ACQUIRED
elseif fence ~= seen or alive or state == 3 and want ~= 0 then
  return {REFUSED, now, value}
elseif want == 0 then -- what is left counts as none, and keeps the fence for a day
  state, policy, cause, kind, attempt, lease, started, since, token, print = 0, 1, 0, 0, 0, 0, 0, 0, NOBODY, string.rep('\0', 33)
  expiry, labels, data, must, ends, says = now + 86400000000, '', '', true, true, OK
else
  if want == 2 then attempt = 0 else kind, data = kind2, string.sub(ARGV[1], at) end
  state, token, fence, cause, since = want, token2, math.max(fence + 1, now), 0, 0
  expiry = now + retention
  if retention == 0 then expiry = 0 end
  must, ends, says = want == 2 or data == '', true, ACQUIRED
end
