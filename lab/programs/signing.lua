-- What wrk asks for, with a signature of each request that takes it so many rounds to compute.

local rounds
local number = 0

init = function(words)
  rounds = tonumber(words[1])
end

request = function()
  number = number + 1
  local sum = number
  for _ = 1, rounds do
    sum = (sum * 16807) % 2147483647
  end
  return wrk.format("GET", "/", { ["X-Signature"] = string.format("%d", sum) })
end
