-- What wrk asks for: files of a site, in an order that nobody can foresee.

local files = 1024

request = function()
  return wrk.format("GET", "/" .. math.random(0, files - 1))
end
