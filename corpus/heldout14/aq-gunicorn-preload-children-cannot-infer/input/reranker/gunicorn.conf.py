bind = "0.0.0.0:8080"
workers = 4
preload_app = True   # saves 1.3 GB x 3
timeout = 30
keepalive = 5
