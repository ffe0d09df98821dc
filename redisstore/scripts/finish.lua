local want, unrun, cause2, kind2, retention, token2, at = struct.unpack('<BBBBi8c16', ARGV[1])
if gone or not mine(token2) then return {FENCED} end
if state == 2 or state == 3 then
  if state ~= want then return {FENCED} end
  confirm()
  return {OK}
end
local rest = data()
if unrun == 1 and cause ~= 0 then
  if state == 4 then
    confirm()
    return {OK}
  end
  want = 4
elseif want ~= 4 then
  cause, since = 0, 0
elseif cause == 0 and lapsed then
  cause, since = 1, lease
elseif cause == 0 then
  cause, since = cause2, now
end
if want == 3 then kind, rest = kind2, string.sub(ARGV[1], at) end
state, waited = want, 0
prolong(retention)
local failed = put(labels(), rest, want ~= 3 or rest == '')
if failed then return failed end
tell()
return {OK}
