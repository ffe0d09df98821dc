-- It does once what the other scripts do, so that a missing right shows at start.
redis.call('TIME')
redis.call('DEL', KEYS[1])
redis.call('SET', KEYS[1], struct.pack('<i8', 0), 'PXAT', '9999999999999')
redis.call('SETRANGE', KEYS[1], 0, '\1')
redis.call('GET', KEYS[1])
redis.call('DEL', KEYS[1])
local said = redis.pcall('PUBLISH', ARGV[1], '')
if type(said) == 'table' and said.err then return 0 end
return 1
