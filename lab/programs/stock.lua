-- What each of sysbench's threads does with a table of articles in MariaDB: it takes one from stock, works on the order for
-- 3 ms, and commits. All want the same article ("one"), or each has its own ("own").

local ffi = require("ffi")

ffi.cdef("int usleep(unsigned int);")

sysbench.cmdline.options = {
   article = {"Whether all threads want the same article", "one"}
}

local WORK_US = 3000
local connection

function thread_init()
   connection = sysbench.sql.driver():connect()
end

function event()
   local id = sysbench.opt.article == "own" and sysbench.tid + 1 or 1
   connection:query("BEGIN")
   connection:query("UPDATE lab_stock SET amount = amount - 1 WHERE id = " .. id)
   ffi.C.usleep(WORK_US)
   connection:query("COMMIT")
end

function thread_done()
   connection:disconnect()
end
