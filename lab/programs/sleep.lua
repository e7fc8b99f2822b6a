-- What sysbench asks for: a statement that waits and uses no CPU.

-- What every test of the lab is given, and this one does not need.
sysbench.cmdline.options = { tables = { "tables", 1 }, table_size = { "rows", 1 } }

function thread_init()
  connection = sysbench.sql.driver():connect()
end

function event()
  connection:query("SELECT SLEEP(0.005)")
end

function thread_done()
  connection:disconnect()
end
