-- What wrk asks for: pieces of a large file, at places that nobody can foresee.

local pieces = 2048
local length = 65536

request = function()
  local first = math.random(0, pieces - 1) * length
  return wrk.format("GET", "/file", { Range = "bytes=" .. first .. "-" .. first + length - 1 })
end
