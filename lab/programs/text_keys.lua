-- What sysbench asks MariaDB for: an order by its number, which is kept as text. The number is given as a text or as
-- what it is.

sysbench.cmdline.options = {
   given = {"How the number is given", "text"}
}

local connection

function thread_init()
   connection = sysbench.sql.driver():connect()
end

function event()
   local number = sysbench.rand.uniform(1, 5000)
   local given = sysbench.opt.given == "text" and "'" .. number .. "'" or number
   connection:query("SELECT id FROM lab_order WHERE number = " .. given)
end

function thread_done()
   connection:disconnect()
end
