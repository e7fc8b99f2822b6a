-- A service of HAProxy's that computes for a while and then says ok.

local ROUNDS = 60000

core.register_service("answering", "http", function(applet)
    local sum = 0
    for round = 1, ROUNDS do
        sum = sum + round % 7
    end
    local text = "ok\n"
    applet:set_status(200)
    applet:add_header("content-length", tostring(#text))
    applet:start_response()
    applet:send(text)
end)
