-- What sysbench asks MariaDB for: a page of ten orders far down in a list, by how many orders come before it ("offset"), or by
-- the last order of the page before ("key").

sysbench.cmdline.options = {
   page = {"How a page is found", "offset"}
}

local FIRST, LAST = 15000, 25000
local connection

function thread_init()
   connection = sysbench.sql.driver():connect()
end

function event()
   local before = sysbench.rand.uniform(FIRST, LAST)
   if sysbench.opt.page == "key" then
      connection:query("SELECT id, note FROM lab_order WHERE id > " .. before .. " ORDER BY id LIMIT 10")
   else
      connection:query("SELECT id, note FROM lab_order ORDER BY id LIMIT 10 OFFSET " .. before)
   end
end

function thread_done()
   connection:disconnect()
end
