# gunicorn.conf.py
bind = "0.0.0.0:8000"
workers = 4
timeout = 60
preload_app = True      # model takes 9 s to load, do it once
accesslog = "-"
errorlog = "-"
