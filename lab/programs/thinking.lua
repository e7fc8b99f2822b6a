-- A test of sysbench whose threads ask for a sum over some rows and think for 4 ms before they ask again.
require("oltp_common")
local ffi = require("ffi")
ffi.cdef("int usleep(unsigned int microseconds);")

function prepare_statements() end

function event()
   con:query("SELECT SUM(k) FROM sbtest1 WHERE id BETWEEN 1 AND 2000")
   ffi.C.usleep(4000)
end
