-- What each of sysbench's workers does with a table of jobs in MariaDB: it takes the first job that is open, works on it
-- for 5 ms, and says that it is done. Taking a job may skip those that somebody else has ("skip"), or wait for them.

local ffi = require("ffi")

ffi.cdef("int usleep(unsigned int);")

sysbench.cmdline.options = {
   taken = {"What is done about jobs that somebody else has", "wait"}
}

local WORK_US = 5000
local connection

function thread_init()
   connection = sysbench.sql.driver():connect()
end

function event()
   local skip = sysbench.opt.taken == "skip" and " SKIP LOCKED" or ""
   connection:query("BEGIN")
   local id = connection:query_row(
      "SELECT id FROM lab_job WHERE done = 0 ORDER BY id LIMIT 1 FOR UPDATE" .. skip)
   ffi.C.usleep(WORK_US)
   if id then
      connection:query("UPDATE lab_job SET done = 1 WHERE id = " .. id)
   end
   connection:query("COMMIT")
end

function thread_done()
   connection:disconnect()
end
