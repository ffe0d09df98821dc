local want, unrun, cause2, kind2, retention, token2, at = struct.unpack('<BBBBi8c16', ARGV[1])
if gone or token ~= token2 or token2 == NOBODY then return {FENCED} end
if (state == 2 or state == 3) and state ~= want then return {FENCED} end
if state == 2 or state == 3 or state == 4 and unrun == 1 then
  if ARGV[2] then redis.call('SETRANGE', key, 0, '\1') end
  return {OK}
end
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
