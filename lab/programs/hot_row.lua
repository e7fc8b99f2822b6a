-- What each of sysbench's threads does with a stock in MariaDB: it sells one article inside a transaction, and then takes
-- 5 ms for the rest of the order before it commits. All sell the same article ("one"), or each has its own ("own").

local ffi = require("ffi")

ffi.cdef("int usleep(unsigned int);")

sysbench.cmdline.options = {
   article = {"Which article is sold", "one"}
}

local REST_US = 5000
local connection

function thread_init()
   connection = sysbench.sql.driver():connect()
end

function event()
   local id = sysbench.opt.article == "one" and 1 or sysbench.tid + 1
   connection:query("BEGIN")
   connection:query("UPDATE lab_stock SET sold = sold + 1 WHERE id = " .. id)
   ffi.C.usleep(REST_US)
   connection:query("COMMIT")
end

function thread_done()
   connection:disconnect()
end
