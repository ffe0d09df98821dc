local seen = struct.unpack('<i8', ARGV[1])
if gone or not alive or fence ~= seen then return {FENCED} end
if waited == 0 then redis.call('SETRANGE', key, 5, '\1') end
return {OK}
