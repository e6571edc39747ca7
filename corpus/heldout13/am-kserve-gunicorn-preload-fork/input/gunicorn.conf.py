bind = "0.0.0.0:8080"
workers = 2
preload_app = True
timeout = 120
