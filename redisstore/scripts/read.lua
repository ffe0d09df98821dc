if gone then return {NONE} end
return {TOLD, now, value}
