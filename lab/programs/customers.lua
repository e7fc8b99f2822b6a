-- What sysbench asks MariaDB for: how many orders a customer has, and what they come to.

local connection

function thread_init()
   connection = sysbench.sql.driver():connect()
end

function event()
   local customer = sysbench.rand.uniform(0, 999)
   connection:query("SELECT COUNT(*), SUM(total) FROM lab_order WHERE customer = " .. customer)
end

function thread_done()
   connection:disconnect()
end
