local want, unrun, cause2, kind2, retention, token2, at = struct.unpack('<BBBBi8c16', ARGV[1])
local ended = state == 2 or state == 3
if gone or token ~= token2 or token2 == NOBODY or ended and state ~= want then
  says = FENCED
elseif ended or state == 4 and unrun == 1 then
  labels, data = string.sub(value, HEAD + 1, HEAD + size), string.sub(value, HEAD + size + 1)
  same, says = true, OK
else
  labels = string.sub(value, HEAD + 1, HEAD + size)
  if unrun == 1 and cause ~= 0 then
    want = 4
  elseif want ~= 4 then
    cause, since = 0, 0
  elseif cause == 0 and lapsed then
    cause, since = 1, lease
  elseif cause == 0 then
    cause, since = cause2, now
  end
  if want == 3 then
    kind, data = kind2, string.sub(ARGV[1], at)
  else
    data = string.sub(value, HEAD + size + 1)
  end
  if retention == 0 then
    expiry = 0
  elseif expiry ~= 0 and (expiry - now) * 2 < retention then
    expiry = now + retention
  end
  state, must, ends, says = want, want ~= 3 or data == '', true, OK
end
