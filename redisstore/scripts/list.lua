if gone then return {NONE} end
if state == 3 then value = string.sub(value, 1, HEAD + size) end
return {TOLD, now, value}
