-- What each of sysbench's threads does with a table of pages in MariaDB: it counts a visit of one of them, and
-- the next one 1 ms later.

local ffi = require("ffi")

ffi.cdef("int usleep(unsigned int);")

local PAUSE_US = 1000
local connection

function thread_init()
   connection = sysbench.sql.driver():connect()
end

function event()
   local page = sysbench.rand.uniform(1, 1000000)
   connection:query("UPDATE lab_page SET visits = visits + 1 WHERE id = " .. page)
   ffi.C.usleep(PAUSE_US)
end

function thread_done()
   connection:disconnect()
end
