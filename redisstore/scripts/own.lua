local policy2, checkpoint, span, token2, at = struct.unpack('<BBi8c16', ARGV[1])
if gone or state ~= 1 or token ~= token2 or token2 == NOBODY then
  says = FENCED
else
  labels, says = string.sub(value, HEAD + 1, HEAD + size), OK
  if checkpoint == 1 then
    data = string.sub(ARGV[1], at)
  else
    data, must = string.sub(value, HEAD + size + 1), true
    lease = now + span
    if policy2 == 2 then policy = 2 end
  end
end
