module fanout

go 1.24
