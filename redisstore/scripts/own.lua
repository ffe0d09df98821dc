local policy2, checkpoint, span, token2, at = struct.unpack('<BBi8c16', ARGV[1])
if gone or state ~= 1 or not mine(token2) then return {FENCED} end
if checkpoint == 1 then return put(labels(), string.sub(ARGV[1], at), false) or {OK} end
lease = now + span
if policy2 == 2 then policy = 2 end
return put(labels(), data(), true) or {OK}
